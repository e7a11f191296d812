/** Returns the trimmed text, or undefined if the value is not a text with content. */
export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Returns a scalar value as text for an address or a name, or undefined for other values. */
export function toScalarText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
