import { useState } from 'react';
import { readBrand } from '../page/brand.ts';

/** What the operator has to say to everybody. */
export function Notice() {
  const [{ notice }] = useState(readBrand);
  return notice === undefined ? null : <p className="operator-notice small">{notice}</p>;
}
