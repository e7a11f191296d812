import { useLanguage } from '../strings/strings.tsx';

/** Time of a message. On devices with hover, it is visible only on hover and focus, but always available to screen readers. */
export function TurnTime({ atMs }: { readonly atMs: number }) {
  const { locale } = useLanguage();
  const date = new Date(atMs);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time
      {...{ className: 'turn-time', dateTime: date.toISOString() }}
      title={date.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'short' })}
    >
      {date.toLocaleString(locale, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  );
}
