-- Which of the keys are new: never seen, or their time is over. They are seen from now on.
-- ARGV[1] now; ARGV[2] until; ARGV[3] how many milliseconds that is. Gives their places.

local now, fresh = tonumber(ARGV[1]), {}
for i, key in ipairs(KEYS) do
  local until_when = redis.call('GET', key)
  if not until_when or tonumber(until_when) <= now then
    redis.call('SET', key, ARGV[2], 'PX', ARGV[3])
    fresh[#fresh + 1] = i
  end
end
return fresh
