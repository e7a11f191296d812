import { Icon } from '../parts/icon.tsx';

interface ChoiceButtonProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

/** A button that stands for a value; once it was used, it says so. */
export function ChoiceButton({ label, isChosen, choose }: ChoiceButtonProps) {
  return (
    <button type="button" className="button" aria-pressed={isChosen || undefined} onClick={choose}>
      {isChosen && <Icon name="check" />}
      {label}
    </button>
  );
}
