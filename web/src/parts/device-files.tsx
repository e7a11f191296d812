import { useRef } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface FileButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly className?: string;
  readonly isDisabled?: boolean;
  /** Accepted types. By default all. */
  readonly accept?: string;
  readonly isMultiple?: boolean;
  readonly onFile: (file: File) => void;
}

/** A button that selects files of the user's device. */
export function FileButton({ label, icon, className = 'button', isDisabled, accept, isMultiple, onFile }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button {...{ type: 'button', className, disabled: isDisabled }} onClick={() => input.current?.click()}>
        {icon !== undefined && <Icon name={icon} />}
        {label}
      </button>
      <input
        {...{ ref: input, type: 'file', multiple: isMultiple, hidden: true, accept, 'aria-label': label }}
        onChange={({ target }) => {
          for (const file of target.files ?? []) onFile(file);
          target.value = '';
        }}
      />
    </>
  );
}

/** Saves a file on the user's device. The page never opens it. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns a file name that is valid on every system. */
export function toFileName(title: string, extension: string): string {
  const stem =
    title
      .replace(/[^\p{L}\p{N}._-]+/gu, ' ')
      .trim()
      .slice(0, 60) || 'parley';
  return stem.toLowerCase().endsWith(`.${extension}`) ? stem : `${stem}.${extension}`;
}
