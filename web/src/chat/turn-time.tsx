import { useLanguage } from '../strings/strings.tsx';

/** Time of a message. It is visible on hover and focus, and always available to screen readers. */
export function TurnTime({ atMs }: { readonly atMs: number }) {
  const { locale } = useLanguage();
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date().toDateString();
  return (
    <time
      {...{ className: 'turn-time', dateTime: at.toISOString() }}
      title={at.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'short' })}
    >
      {at.toLocaleString(locale, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  );
}
