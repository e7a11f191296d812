import { randomBytes } from 'node:crypto';

/** Returns a random secret. */
export function newSecret(): string {
  return randomBytes(18).toString('base64url');
}

/** Returns a new API key for the embedded default. */
export function createLocalKey(): string {
  return `parley-${newSecret()}`;
}

/** Prints the start message for the user. `localKey` is the API key of the embedded default. */
export function greet(address: string, localKey: string | undefined): void {
  console.log(`Parley listens on ${address}, API reference: ${address}/docs`);
  if (localKey !== undefined)
    console.log(`No configuration found. Serving the demo. Page (key valid until restart): ${address}/#key=${localKey}`);
}
