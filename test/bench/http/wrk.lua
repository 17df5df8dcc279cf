-- wrk's script: sends prepared requests, each once, and ends with a line of JSON that says what came of them.
-- Arguments: the file, how many connections there are, and "again" to start over at the file's end. In the file stands a
-- request's length in bytes, a newline, its bytes, and so on.
local requests, connections, again
local opened = 0

function init(arguments)
  requests = assert(io.open(arguments[1], "rb"))
  connections = tonumber(arguments[2])
  again = arguments[3] == "again"
end

-- Node accepts one connection a turn, so a busy server would get them all only after a while: the first request of each
-- waits until they stand.
function delay()
  opened = opened + 1
  return opened <= connections and 100 or 0
end

function request()
  local length = requests:read("*n", 1)
  if not length and again then
    requests:seek("set")
    length = requests:read("*n", 1)
  end
  if not length then
    io.stderr:write("more requests are needed than were prepared\n")
    os.exit(1)
  end
  return requests:read(length)
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local line = '{"answered":%d,"failed":%d,"tookUs":%d,"p99Us":%d}\n'
  io.write(line:format(summary.requests, failed, summary.duration, latency:percentile(99)))
end
