// Two workers in PM2's cluster mode: one process accepts, and hands connections to them in turn.
module.exports = {
    apps: [{ name: 'card-game', script: './server.js', cwd: __dirname, instances: 2, exec_mode: 'cluster' }],
};
