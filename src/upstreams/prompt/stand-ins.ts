/** Stands where a dialect wants a message of the user and there is none. */
export const opening = '(The conversation begins.)';
/** Stands for the result of a call that got none. */
export const noResult = 'No result was given.';
