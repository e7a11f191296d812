import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { DeploymentDialog, loadChoice } from './deployment-dialog.tsx';
import { DeploymentIcon } from './deployment-icon.tsx';
import { focusMessage } from './focus-message.ts';
import './picker.css';

interface DeploymentPickerProps {
  readonly deployments: readonly Deployment[];
  readonly chosen: Deployment | undefined;
  /** Shown where the chosen one is not offered any more. */
  readonly missing: string;
  readonly choose: (id: string) => void;
}

/** Whom the next question goes to, and a dialog to choose another. */
export function DeploymentPicker({ deployments, chosen, missing, choose }: DeploymentPickerProps) {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const pick = (id: string): void => {
    choose(id);
    focusMessage();
  };
  return (
    <>
      <button
        {...{ type: 'button', className: 'picker', 'aria-haspopup': 'dialog', disabled: deployments.length === 0 }}
        onFocus={loadChoice}
        onPointerEnter={loadChoice}
        onClick={() => setIsOpen(true)}
      >
        {chosen !== undefined && <DeploymentIcon deployment={chosen} />}
        <span className="heard-only">{words.deployment}: </span>
        <span className="picker-name">{chosen?.name ?? (missing || words.chooseDeployment)}</span>
        <Icon name="down" />
      </button>
      {isOpen && (
        <DeploymentDialog {...{ title: words.chooseDeployment, chosen: chosen?.id, pick }} close={() => setIsOpen(false)} />
      )}
    </>
  );
}
