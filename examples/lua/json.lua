-- Prints the result as one line of JSON after the report.
--
--   loadline run -s examples/lua/json.lua http://127.0.0.1:8080/
function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '{"requests": %d, "failed": %d, "seconds": %.3f, "bytes": %d, "mean_us": %.1f, "p50_us": %d, "p99_us": %d, "max_us": %d}\n',
    summary.requests, failed, summary.duration / 1e6, summary.bytes,
    latency.mean, latency:percentile(50), latency:percentile(99), latency.max))
end
