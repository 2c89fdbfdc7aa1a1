// Everyday servers of Node: node everyday.js NAME. Each says where it listens.
'use strict';
const http = require('http');

const body = JSON.stringify({ hello: 'world'.repeat(20) });
const answer = (response) => {
  response.setHeader('content-type', 'application/json');
  response.end(body);
};

const servers = {
  // A template or a schema that takes a millisecond.
  computing: (_, response) => {
    const until = process.hrtime.bigint() + 1000000n;
    while (process.hrtime.bigint() < until);
    answer(response);
  },
  // Waits for something that is not limited.
  waiting: (_, response) => setTimeout(() => answer(response), 20),
};

const server = http.createServer(servers[process.argv[2]]);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
