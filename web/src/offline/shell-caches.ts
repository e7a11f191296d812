/** Name prefix of each cache that contains a built page. */
export const shellCachePrefix = 'parley page ';

/** Name of the lock of these caches: shared to store files, exclusive to remove them. */
export const shellCacheLock = 'parley page';
