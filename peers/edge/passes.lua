-- Asks for the paths of a file, one a line, in turn; the counts are printed as without it.
dofile((debug.getinfo(1, "S").source:gsub("^@", ""):gsub("passes%.lua$", "wrk.lua")))
local requests, n = {}, 0
init = function(args)
  for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format("GET", path) end
end
request = function()
  n = n % #requests + 1
  return requests[n]
end
