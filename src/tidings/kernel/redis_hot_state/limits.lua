-- Takes from limits, group by group: the arithmetic of kernel/limit_windows.py, word for word.
-- KEYS     the states, each a flat list {moment, amount, moment, amount, …} in msgpack
-- ARGV[1]  now, in microseconds since 1970, by the caller's clock
-- ARGV[2]  the groups: {{{place in KEYS, kind, limit, window, refill, amount}, …}, …}
-- ARGV[3]  "1": a state that is not here may be elsewhere, so name it instead of taking it for empty
-- ARGV[4]  states from elsewhere, by place in KEYS
-- Gives "M" and the places that are missing, or "R" and an answer for each group: 0 when granted, or
-- {retry at or -1, place in the group, …} when not. {-2, moment, …} is granted too, at other moments than the caller's clock
-- says, one for each take: another caller's clock is ahead.
-- Whole numbers below 2^53 are exact here; a bucket that holds more drops than that is rounded by some 10^-10 of a token.

local MOST_MOMENTS = 256
local MARGIN_MS = 10000
local now = tonumber(ARGV[1])
local groups = cmsgpack.unpack(ARGV[2])
local may_be_elsewhere = ARGV[3] == '1'
local elsewhere = cmsgpack.unpack(ARGV[4])

local function ceil_div(value, by)
  local rest = math.fmod(value, by)
  return (value - rest) / by + (rest > 0 and 1 or 0)
end

-- Each asks one limit: granted, the state after, when to come again, when the state means nothing any more, and
-- whether it was taken at another moment than now.

local function fixed(state, limit, window, _, amount)
  local mark = now - math.fmod(now, window)
  local start, used = mark, 0
  if state[1] and state[1] >= start then start, used = state[1], state[2] end
  if used + amount <= limit then return true, {start, used + amount}, nil, start + window, start ~= mark end
  return false, nil, amount <= limit and start + window or -1
end

local function pack(kept)
  while #kept > 2 * MOST_MOMENTS do
    local at, least = 1, math.huge
    for i = 1, #kept - 3, 2 do
      if kept[i + 2] - kept[i] < least then at, least = i, kept[i + 2] - kept[i] end
    end
    kept[at + 3] = kept[at + 1] + kept[at + 3]
    table.remove(kept, at)
    table.remove(kept, at)
  end
end

local function sliding(state, limit, window, _, amount)
  local last = state[#state - 1]
  local moment = (last and last > now) and last or now
  local kept, used = {}, 0
  for i = 1, #state, 2 do
    if state[i] > moment - window then
      kept[#kept + 1], kept[#kept + 2] = state[i], state[i + 1]
      used = used + state[i + 1]
    end
  end
  if used + amount <= limit then
    if amount > 0 and kept[#kept - 1] == moment then
      kept[#kept] = kept[#kept] + amount
    elseif amount > 0 then
      kept[#kept + 1], kept[#kept + 2] = moment, amount
    end
    pack(kept)
    return true, kept, nil, (kept[#kept - 1] or moment) + window, moment ~= now
  end
  if amount > limit then return false, nil, -1 end
  local excess = used + amount - limit
  for i = 1, #kept, 2 do
    excess = excess - kept[i + 1]
    if excess <= 0 then return false, nil, kept[i] + window end
  end
end

local function bucket(state, capacity, window, refill, amount)
  local full, moment = capacity * window, now
  local level = full
  if state[1] then
    if state[1] > moment then moment = state[1] end
    level = math.min(full, state[2] + (moment - state[1]) * refill)
  end
  local wanted = amount * window
  if wanted <= level then
    level = level - wanted
    return true, {moment, level}, nil, moment + ceil_div(full - level, refill), moment ~= now
  end
  return false, nil, amount <= capacity and moment + ceil_div(wanted - level, refill) or -1
end

local KINDS = {fixed, sliding, bucket}

local states, missing = {}, {}
for first = 1, #KEYS, 1000 do
  local found = redis.call('MGET', unpack(KEYS, first, math.min(first + 999, #KEYS)))
  for i, state in ipairs(found) do
    local place = first + i - 1
    if state then
      states[place] = cmsgpack.unpack(state)
    elseif elsewhere[place] then
      states[place] = elsewhere[place]
    else
      states[place] = {}
      missing[#missing + 1] = place
    end
  end
end
if may_be_elsewhere and #missing > 0 then return 'M' .. cmsgpack.pack(missing) end

local answers, ends = {}, {}
for number, group in ipairs(groups) do
  local after, until_when, refused, retry_at, shifted = {}, {}, {}, 0, false
  for i, take in ipairs(group) do
    local place = take[1]
    local granted, state, again, expires, other_moment = KINDS[take[2]](after[place] or states[place], take[3], take[4], take[5], take[6])
    if granted then
      after[place], until_when[place] = state, expires
      shifted = shifted or other_moment
    else
      refused[#refused + 1] = i
      if again == -1 or retry_at == -1 then retry_at = -1 else retry_at = math.max(retry_at, again) end
    end
  end
  if #refused > 0 then
    answers[number] = {retry_at, unpack(refused)}
  else
    for place, state in pairs(after) do states[place], ends[place] = state, until_when[place] end
    answers[number] = 0
    if shifted then
      -- The last moment of a state is the one that it was taken at; an empty one was asked for nothing.
      answers[number] = {-2}
      for i, take in ipairs(group) do
        local state = states[take[1]]
        answers[number][i + 1] = state[#state - 1] or now
      end
    end
  end
end

-- A duration and not a moment: this server's clock may be another than the caller's.
for place, expires in pairs(ends) do
  if #states[place] > 0 then
    local ms = ceil_div(math.max(0, expires - now), 1000) + MARGIN_MS
    redis.call('SET', KEYS[place], cmsgpack.pack(states[place]), 'PX', string.format('%.0f', ms))
  end
end
return 'R' .. cmsgpack.pack(answers)
