/**
 * Each is one step. Keys of claims are hashes, a field for each lease; leases are one hash, with the moment that each ends by
 * the clock of Redis. Numbers of Lua are doubles: whole and exact as far as JavaScript's are, and sums stop growing there.
 */

const claimLifeMs = 86_400_000;

const common = `
local function text(number) return string.format('%.0f', math.min(number, ${Number.MAX_SAFE_INTEGER})) end
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function renew(leases, lease, ms)
  redis.call('HSET', leases, lease, text(now() + ms))
  redis.call('PEXPIRE', leases, text(ms))
end`;

/**
 * Keys: the leases, those of claims, those of counters. Arguments: how many claims, the lease, how long it lasts; for each claim
 * its amount and what is exempt; for each counter its total, amount, life in milliseconds and the number of its claim, or 0.
 */
export const reserveScript = `${common}
local claims, lease, leaseMs = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local at = now()
local reserved, found = {}, {}
for c = 1, claims do
  local key, sum = KEYS[1 + c], 0
  local fields = redis.call('HGETALL', key)
  for f = 1, #fields, 2 do
    local endsAt = tonumber(redis.call('HGET', KEYS[1], fields[f]) or 0)
    if endsAt > at then sum = sum + tonumber(fields[f + 1]) else redis.call('HDEL', key, fields[f]) end
  end
  reserved[c] = math.max(0, sum - tonumber(ARGV[3 + 2 * c]))
  found[c] = text(reserved[c])
end
local before = {}
if #KEYS > 1 + claims then before = redis.call('MGET', unpack(KEYS, 2 + claims)) end
for i = 1, #before do
  local a = 3 + 2 * claims + 4 * (i - 1)
  local standing = tonumber(before[i] or 0) + (reserved[tonumber(ARGV[a + 4])] or 0)
  if standing >= tonumber(ARGV[a + 1]) then return { before, found } end
end
for i = 1, #before do
  local a = 3 + 2 * claims + 4 * (i - 1)
  local amount = tonumber(ARGV[a + 2])
  if amount > 0 then
    redis.call('SET', KEYS[1 + claims + i], text(tonumber(before[i] or 0) + amount), 'PX', ARGV[a + 3])
  end
end
for c = 1, claims do
  local amount = tonumber(ARGV[2 + 2 * c])
  if amount > 0 then
    local own = tonumber(redis.call('HGET', KEYS[1 + c], lease) or 0)
    redis.call('HSET', KEYS[1 + c], lease, text(own + amount))
    redis.call('PEXPIRE', KEYS[1 + c], ${claimLifeMs})
    renew(KEYS[1], lease, leaseMs)
  end
end
return { before, found }`;

/**
 * Keys: those of claims, those of counters. Arguments: how many claims, the lease, the amount of each claim; for each counter its
 * amount and life in milliseconds.
 */
export const settleScript = `${common}
local claims, lease = tonumber(ARGV[1]), ARGV[2]
local sums = {}
for i = 1, #KEYS - claims do
  sums[i] = tonumber(redis.call('GET', KEYS[claims + i]) or 0) + tonumber(ARGV[2 + claims + 2 * i - 1])
end
for i = 1, #sums do redis.call('SET', KEYS[claims + i], text(sums[i]), 'PX', ARGV[2 + claims + 2 * i]) end
for c = 1, claims do
  local left = tonumber(redis.call('HGET', KEYS[c], lease) or 0) - tonumber(ARGV[2 + c])
  if left > 0 then redis.call('HSET', KEYS[c], lease, text(left)) else redis.call('HDEL', KEYS[c], lease) end
end`;

/** Key: the leases. Arguments: the lease, how long it lasts. Drops those that are over. */
export const renewScript = `${common}
local at = now()
local leases = redis.call('HGETALL', KEYS[1])
for l = 1, #leases, 2 do
  if tonumber(leases[l + 1]) <= at then redis.call('HDEL', KEYS[1], leases[l]) end
end
renew(KEYS[1], ARGV[1], tonumber(ARGV[2]))`;
