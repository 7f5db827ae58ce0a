-- Gives a lease back, if it is still this one. KEYS[1] the lease; ARGV holder, fence

local held = redis.call('HMGET', KEYS[1], 'holder', 'fence')
if held[1] == ARGV[1] and held[2] == ARGV[2] then return redis.call('DEL', KEYS[1]) end
return 0
