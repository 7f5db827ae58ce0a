-- Members are here until a moment: one sorted set for each key, ordered by the moment they go.
-- KEYS one for each member; ARGV[1] now; ARGV[2] until; ARGV[3] how many milliseconds that is; then the members

local now, until_when, ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, until_when, ARGV[i + 3])
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ARGV[3]) end
end
return #KEYS
