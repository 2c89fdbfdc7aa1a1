// The game of 24: of four cards, each used once with + - * / and brackets, make 24.
//
// Two workers answer in turn and share no memory, so a question must not live in one of them. It is made from its number alone: the
// same number deals the same cards, in whichever worker the answer arrives.
'use strict';

const SUITS = ['♠', '♥', '♦', '♣'];
const RANKS = ['A', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K'];
const IDS = 2 ** 31;

const card = (place) => ({ name: RANKS[place % 13] + SUITS[Math.floor(place / 13)], value: (place % 13) + 1 });

// Mulberry32: a small generator of numbers in [0, 1) that a seed decides.
function drawn(seed) {
    let a = seed >>> 0;
    return () => {
        a = (a + 0x6d2b79f5) | 0;
        let t = Math.imul(a ^ (a >>> 15), 1 | a);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}

// So many cards from the top of a shuffled deck.
function deal(count, random) {
    const deck = Array.from({ length: 52 }, (_, place) => place);
    for (let at = 0; at < count; at++) {
        const other = at + Math.floor(random() * (52 - at));
        [deck[at], deck[other]] = [deck[other], deck[at]];
    }
    return deck.slice(0, count).map(card);
}

// The cards of a question, dealt until they can be solved, with a solution.
function question(id) {
    const random = drawn(id);
    for (;;) {
        const cards = deal(4, random);
        const solution = solve(cards.map(({ value }) => ({ value, text: String(value) })));
        if (solution) {
            return { cards, solution };
        }
    }
}

// Puts any two numbers together in every way until one number is left. In floating point: 8 / (3 - 8 / 3) must be 24.
function solve(numbers) {
    if (numbers.length === 1) {
        return Math.abs(numbers[0].value - 24) < 1e-9 ? numbers[0].text : null;
    }
    for (let i = 0; i < numbers.length; i++) {
        for (let j = i + 1; j < numbers.length; j++) {
            const rest = numbers.filter((_, at) => at !== i && at !== j);
            const [a, b] = [numbers[i], numbers[j]];
            const together = [
                { value: a.value + b.value, text: `(${a.text}+${b.text})` },
                { value: a.value - b.value, text: `(${a.text}-${b.text})` },
                { value: b.value - a.value, text: `(${b.text}-${a.text})` },
                { value: a.value * b.value, text: `(${a.text}*${b.text})` },
            ];
            if (b.value !== 0) {
                together.push({ value: a.value / b.value, text: `(${a.text}/${b.text})` });
            }
            if (a.value !== 0) {
                together.push({ value: b.value / a.value, text: `(${b.text}/${a.text})` });
            }
            for (const one of together) {
                const found = solve([one, ...rest]);
                if (found) {
                    return found;
                }
            }
        }
    }
    return null;
}

// What an expression comes to and which numbers it uses, or null if it is none. A reader of its own: eval would run whatever is sent.
function read(text) {
    const tokens = text.match(/\d+|[-+*/()]/g) ?? [];
    if (text.length > 100 || tokens.join('') !== text.replaceAll(' ', '')) {
        return null;
    }
    const used = [];
    let at = 0;
    const sum = () => {
        let value = product();
        while (tokens[at] === '+' || tokens[at] === '-') {
            value = tokens[at++] === '+' ? value + product() : value - product();
        }
        return value;
    };
    const product = () => {
        let value = one();
        while (tokens[at] === '*' || tokens[at] === '/') {
            value = tokens[at++] === '*' ? value * one() : value / one();
        }
        return value;
    };
    const one = () => {
        const token = tokens[at++];
        if (token === '(') {
            const value = sum();
            return tokens[at++] === ')' ? value : NaN;
        }
        if (!/^\d+$/.test(token ?? '')) {
            return NaN;
        }
        used.push(Number(token));
        return Number(token);
    };
    const value = sum();
    return at === tokens.length && Number.isFinite(value) ? { value, used } : null;
}

// Whether an expression solves a question, and what it comes to; null if it is no expression.
function judge(id, expression) {
    const said = read(expression);
    if (!said) {
        return null;
    }
    const sorted = (numbers) => numbers.sort((a, b) => a - b).join(' ');
    const same = sorted(said.used) === sorted(question(id).cards.map(({ value }) => value));
    return { right: same && Math.abs(said.value - 24) < 1e-9, value: said.value };
}

module.exports = { IDS, deal, question, judge };

// `node deck.js 200` prints that many questions with right answers: the data file of the plan.
if (require.main === module) {
    console.log('id,expression');
    for (let id = 1; id <= Number(process.argv[2] ?? 200); id++) {
        console.log(`${id},${question(id).solution}`);
    }
}
