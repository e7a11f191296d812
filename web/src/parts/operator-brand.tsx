import { useState } from 'react';
import { readBrand } from '../shell/brand.ts';

/** The operator's logo, or the Parley icon. */
export function Logo({ size }: { readonly size: number }) {
  const [{ logo }] = useState(readBrand);
  if (logo !== undefined) return <img className="mark logo" src={logo} alt="" height={size} />;
  return (
    <svg className="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="9" className="mark-ground" />
      <path d="M8 9.5h11a4 4 0 0 1 4 4v1a4 4 0 0 1-4 4h-4.5L10 22.5v-4H8z" className="mark-speech" />
      <circle cx="24.5" cy="22.5" r="2.5" className="mark-dot" />
    </svg>
  );
}

/** A message of the operator to all users. */
export function OperatorNotice() {
  const [{ notice }] = useState(readBrand);
  return notice === undefined ? null : <p className="operator-notice small">{notice}</p>;
}
