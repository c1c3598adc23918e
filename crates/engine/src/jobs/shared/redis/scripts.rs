//! The Lua scripts. Redis runs each as one operation.

use redis::Script;

/// Takes a lock that is free, or that its holder has already.
pub(super) fn lock() -> Script {
    Script::new(
        "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
         return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0",
    )
}

/// Deletes a lock that has this token.
pub(super) fn release() -> Script {
    Script::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
         return redis.call('DEL', KEYS[1])",
    )
}

/// Appends once per key. A server that evicted the list, but not the places in it, begins anew.
pub(super) fn append() -> Script {
    Script::new(
        "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end
         if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
         local length = redis.call('RPUSH', KEYS[1], ARGV[2])
         redis.call('HSET', KEYS[2], ARGV[1], length - 1)
         redis.call('EXPIRE', KEYS[1], ARGV[3])
         redis.call('EXPIRE', KEYS[2], ARGV[3])
         return 1",
    )
}

/// Stores a proposal and lists it as pending.
pub(super) fn propose() -> Script {
    Script::new(
        "if redis.call('HEXISTS', KEYS[1], 'decision') == 1 then return 0 end
         local new = redis.call('HEXISTS', KEYS[1], 'proposal') == 0
         if new then
            redis.call('HSET', KEYS[1], unpack(ARGV, 3))
            redis.call('EXPIRE', KEYS[1], ARGV[2])
         end
         redis.call('LREM', KEYS[2], 0, ARGV[1])
         redis.call('RPUSH', KEYS[2], ARGV[1])
         return new and 1 or 0",
    )
}

/// Stores the first decision, and returns the one that counts.
pub(super) fn decide() -> Script {
    Script::new(
        "local first = redis.call('HGET', KEYS[1], 'decision')
         if first then return {0, first} end
         redis.call('HSET', KEYS[1], 'decision', ARGV[2], 'status', ARGV[3])
         redis.call('EXPIRE', KEYS[1], ARGV[4])
         redis.call('LREM', KEYS[2], 0, ARGV[1])
         return {1, ARGV[2]}",
    )
}
