/** Returns whether an `Accept-Encoding` field names a content coding with a weight above 0 (RFC 9110, 12.5.3). `*` does not count. */
export function acceptsEncoding(field: string | undefined, coding: string): boolean {
  if (field === undefined) return false;
  return field.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return name === coding && Number(weight) > 0;
  });
}
