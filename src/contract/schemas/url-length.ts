import { requestFault } from '../errors/request-error.ts';

/** Longest URL that most servers accept. `data:` URLs hold their content and have only the bound of the body. */
const maxUrlChars = 8 * 1024;

/** Throws invalid_request if a URL is longer than 8192 characters and is not a `data:` URL. `at` is the path of the URL. */
export function requireUrlLength(url: string, at: string): void {
  if (url.length > maxUrlChars && !/^data:/i.test(url))
    throw requestFault(at, `must have at most ${maxUrlChars} characters unless it is a data: URL`);
}
