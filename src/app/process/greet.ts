import { createRandomSecret } from '#base/secrets/seal.ts';

/** Returns a new API key for the embedded default. It is short, because it is part of the address that users open. */
export function createLocalKey(): string {
  return `parley-${createRandomSecret(18)}`;
}

/** Prints the start message for the user. `localKey` is the API key of the embedded default. */
export function greet(address: string, localKey: string | undefined): void {
  console.log(`Parley listens on ${address}, API reference: ${address}/docs`);
  if (localKey !== undefined)
    console.log(`No configuration found. Serving the demo. Page (key valid until restart): ${address}/#key=${localKey}`);
}
