// The API of the card game, in Express: a question, the judgement of an answer, and a hand of cards.
'use strict';

const express = require('express');
const { IDS, deal, question, judge } = require('./deck.js');

const app = express();
app.disable('x-powered-by');

app.get('/question', (_, answer) => {
    const id = Math.floor(Math.random() * IDS);
    answer.json({ id, cards: question(id).cards });
});

app.get('/answer', ({ query }, answer) => {
    const id = Number(query.id);
    const judged = Number.isInteger(id) && id >= 0 && id < IDS ? judge(id, String(query.expression ?? '')) : null;
    if (!judged) {
        answer.status(400).json({ error: 'id is the number of a question, and expression uses its four numbers with + - * / and brackets' });
        return;
    }
    answer.json({ id, ...judged });
});

app.get('/pick', ({ query }, answer) => {
    const count = Number(query.count ?? 1);
    if (!Number.isInteger(count) || count < 1 || count > 52) {
        answer.status(400).json({ error: 'count is a whole number from 1 to 52' });
        return;
    }
    answer.json({ cards: deal(count, Math.random) });
});

app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1');
