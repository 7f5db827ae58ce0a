-- Members are gone. KEYS one for each member; ARGV the members

for i, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[i]) end
return #KEYS
