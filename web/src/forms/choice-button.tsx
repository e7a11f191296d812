import { Icon } from '../parts/icon.tsx';

interface ChoiceButtonProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

/** A button for a value. A used button shows its state. */
export function ChoiceButton({ label, isChosen, choose }: ChoiceButtonProps) {
  return (
    <button type="button" className="button" aria-pressed={isChosen || undefined} onClick={choose}>
      {isChosen && <Icon name="check" />}
      {label}
    </button>
  );
}
