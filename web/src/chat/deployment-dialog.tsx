import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import type { DeploymentChoiceProps } from './deployment-choice.tsx';

const DeploymentChoice = lazyView(() => import('./deployment-choice.tsx').then(({ DeploymentChoice: view }) => view));

/** Chooses among all that the user may talk to. */
export function DeploymentDialog(props: DeploymentChoiceProps) {
  return (
    <LaterDialog close={props.close}>
      <DeploymentChoice {...props} />
    </LaterDialog>
  );
}
