import { type ReactNode, useId } from 'react';

interface SectionProps {
  readonly name: string;
  readonly children: ReactNode;
}

export function Section({ name, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      {children}
    </section>
  );
}

/** One component with its name or state. */
export function Sample({ name, children }: SectionProps) {
  return (
    <div className="sample">
      <p className="overline">{name}</p>
      <div className="row">{children}</div>
    </div>
  );
}
