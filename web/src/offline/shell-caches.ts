/** Begins the name of each cache that holds the page as it was built. */
export const shellCaches = 'parley page ';
