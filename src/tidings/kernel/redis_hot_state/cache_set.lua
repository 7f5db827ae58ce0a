-- Remembers values. ARGV[1] for how many milliseconds; then the values

for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end
return #KEYS
