import { LazyDialog, lazyView } from '../../parts/lazy-view.tsx';
import type { DeploymentChoiceProps } from './deployment-choice.tsx';

const load = () => import('./deployment-choice.tsx');
const DeploymentChoice = lazyView(() => load().then(({ DeploymentChoice: view }) => view));

/** Called when somebody is about to choose: what is typed right behind the click is meant for the dialog. */
export function loadChoice(): void {
  load().catch(() => undefined);
}

/** Chooses among all that the user may talk to. */
export function DeploymentDialog(props: DeploymentChoiceProps) {
  return (
    <LazyDialog onClose={props.close}>
      <DeploymentChoice {...props} />
    </LazyDialog>
  );
}
