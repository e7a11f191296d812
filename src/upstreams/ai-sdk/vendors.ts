import type { Vendor } from './vendor.ts';
import { bedrock } from './vendors/bedrock.ts';
import { gemini, vertex } from './vendors/google.ts';
import { mistral } from './vendors/mistral.ts';

/** Every vendor that is called with a package of the AI SDK. */
export const vendors = { bedrock, gemini, mistral, vertex } satisfies Record<string, Vendor>;

export type VendorName = keyof typeof vendors;
