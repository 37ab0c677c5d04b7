# Varnish as a cache for live video. What is not said here is as its built-in rules have it: streaming to all who
# wait, grace from stale-while-revalidate, nothing private shared.
vcl 4.1;

backend origin {
  .host = "127.0.0.1";
  .port = "@origin@";
  .connect_timeout = 1s;
  .first_byte_timeout = 10s;
  .between_bytes_timeout = 6s;
}

sub vcl_backend_response {
  # What is not there yet will be in a moment: nobody waits for it in line, and it is asked for anew.
  if (beresp.status >= 400) {
    set beresp.ttl = 1s;
    set beresp.uncacheable = true;
    return (deliver);
  }
}
