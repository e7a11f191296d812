import type { ComponentProps } from 'react';

/** Line drawings on a grid of 24. */
const paths = {
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5L20 20',
  trash: 'M5 7h14M10 4h4M7 7l1 13h8l1-13',
  build: 'M4 4h7v7H4zM13 13h7v7h-7zM4 13h7v7H4zM16.5 4v7M13 7.5h7',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  sliders: 'M4 8h8M18 8h2M4 16h2M12 16h8M18 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0M12 16a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
  text: 'M3 19l5-13 5 13M4.6 15h6.8M15 19l3-8 3 8M16 16.4h4',
  aloud: 'M4 9.5h3.5L12 6v12l-4.5-3.5H4zM15.5 9.5a4 4 0 0 1 0 5M18 7a8 8 0 0 1 0 10',
  microphone: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3M6 11a6 6 0 0 0 12 0M12 17v4',
  leave: 'M14 4H5v16h9M10 12h10M17 9l3 3-3 3',
  menu: 'M4 7h16M4 12h16M4 17h10',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  clip: 'M19 11l-7.5 7.5a4 4 0 0 1-6-6L13 5a2.8 2.8 0 0 1 4 4l-7.5 7.5a1.2 1.2 0 0 1-2-2L14 8',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 13l4 4L19 7',
  info: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M12 11v5M12 8v.5',
  alert: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  again: 'M19 12a7 7 0 1 1-2-5M19 4v4h-4',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  save: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  folder: 'M3 6h6l2 2h10v11H3z',
  bars: 'M4 20h16M7 16v-5M12 16V6M17 16v-8',
  clock: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M12 8v4l3 2',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  link: 'M14 5h5v5M19 5l-8 8M16 14v5H5V8h5',
  share:
    'M20 6a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M9 12a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M20 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M8.7 10.8l6.6-3.6M8.7 13.2l6.6 3.6',
  keyboard: 'M3 7h18v11H3zM7 11v.5M11 11v.5M15 11v.5M17 14.5v.5M7 14.5v.5M10 15h4',
  searchAll: 'M10 4.5a6 6 0 1 1 0 12 6 6 0 0 1 0-12M14.5 15l5.5 5.5M19 2l.9 2.1L22 5l-2.1.9L19 8l-.9-2.1L16 5l2.1-.9z',
  gear: 'M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6M12 5.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M12 3v2.5M12 18.5V21M3 12h2.5M18.5 12H21M5.6 5.6l1.8 1.8M16.6 16.6l1.8 1.8M5.6 18.4l1.8-1.8M16.6 7.4l1.8-1.8',
  speech: 'M4 5h16v11h-9l-5 4v-4H4z',
  bulb: 'M9 17a6 6 0 1 1 6 0v1.5H9zM10 21h4',
  tool: 'M14.5 6.5a4 4 0 0 1 5-1.5l-2.5 2.5 1.5 1.5L21 6.5a4 4 0 0 1-5.5 5L8 19a2 2 0 0 1-3-3l7.5-7.5a4 4 0 0 1 2-2',
  spark: 'M12 4l2 6 6 2-6 2-2 6-2-6-6-2 6-2z',
  wrap: 'M4 6h16M4 12h12a3 3 0 0 1 0 6h-4M14 15l-3 3 3 3M4 18h3',
  star: 'M12 4l2.4 5.2 5.6.7-4.1 3.9 1.1 5.6-5-2.8-5 2.8 1.1-5.6L4 9.9l5.6-.7z',
  swap: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  fork: 'M7 4v16M7 14c0-4 10-2 10-8M14 8l3-3 3 3',
  panel: 'M4 5h16v14H4zM9.5 5v14',
  columns: 'M4 5h7v14H4zM13 5h7v14h-7z',
  good: 'M7 11v9H4v-9zM7 11l4-7c2 0 2.5 1 2 3l-.6 3H19l-1.5 9H7',
  bad: 'M17 13V4h3v9zM17 13l-4 7c-2 0-2.5-1-2-3l.6-3H5l1.5-9H17',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9v.5',
  offline:
    'M4 4l16 16M3 9.5a13 13 0 0 1 4-2.4M11 5.6a13 13 0 0 1 10 3.9M6 13a9 9 0 0 1 4-2.2M15.5 11.6A9 9 0 0 1 18 13M9 16.5a4.5 4.5 0 0 1 6 0M12 19.5v.5',
  hourglass: 'M6 4h12M6 20h12M7 4v3l5 5-5 5v3M17 4v3l-5 5 5 5v3',
  more: 'M5 11v2M12 11v2M19 11v2',
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon next to a text or inside a labeled button. Screen readers ignore it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName;
  /** Text for screen readers and for the tooltip. */
  readonly label: string;
}

/** A button with only an icon. */
export function IconButton({ icon, label, className = '', ...props }: IconButtonProps) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...props}>
      <Icon name={icon} />
    </button>
  );
}

/** A button with a text. */
export function TextButton(props: ComponentProps<'button'>) {
  return <button type="button" className="button" {...props} />;
}
