-- Brings states of limits from elsewhere; one that is here already is newer.
-- KEYS the states; ARGV for each: the state in msgpack, and how many milliseconds it still means something.

for i, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[2 * i - 1], 'PX', ARGV[2 * i], 'NX')
end
return #KEYS
