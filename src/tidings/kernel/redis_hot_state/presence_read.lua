-- Who is here, for each key. ARGV[1] now

local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[1], '+inf') end
return found
