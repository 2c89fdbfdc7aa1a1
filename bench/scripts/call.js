// Calls one method of gRPC again and again, a user on a connection of its own, and writes the counts: for loadline-bench.
import grpc from 'k6/net/grpc';
import { Counter } from 'k6/metrics';

const client = new grpc.Client();
const failed = new Counter('failed');

export default function () {
  if (__ITER === 0) {
    client.connect(__ENV.AT, { plaintext: true, reflect: true });
  }
  const answer = client.invoke(__ENV.METHOD, { payload: { body: 'aGVsbG8=' } });
  if (answer.status !== grpc.StatusOK) {
    failed.add(1);
  }
}

export function handleSummary(data) {
  const { iterations, failed } = data.metrics;
  const counts = { calls: iterations.values.count, failed: failed ? failed.values.count : 0, rate: iterations.values.rate };
  return { stdout: `${JSON.stringify(counts)}\n` };
}
