/** Name prefix of each cache that contains a built page. */
export const shellCaches = 'parley page ';
