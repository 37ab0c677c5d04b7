-- Prints wrk's counts as one line of JSON. No function here runs for a request, so wrk is as fast as without it.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"bytes":%d,"micros":%d,"errors":%d,"bad":%d}\n',
    summary.requests, summary.bytes, summary.duration, e.connect + e.read + e.write + e.timeout, e.status))
end
