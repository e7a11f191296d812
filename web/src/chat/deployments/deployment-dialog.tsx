import { LazyDialog, lazyView } from '../../parts/lazy-view.tsx';
import type { DeploymentChoiceProps } from './deployment-choice.tsx';

const load = () => import('./deployment-choice.tsx');
const DeploymentChoice = lazyView(() => load().then(({ DeploymentChoice: view }) => view));

/** Called before the dialog opens, so that text typed right after the click reaches it. */
export function loadChoice(): void {
  load().catch(() => undefined);
}

/** Chooses among all deployments of the user. */
export function DeploymentDialog(props: DeploymentChoiceProps) {
  return (
    <LazyDialog onClose={props.close}>
      <DeploymentChoice {...props} />
    </LazyDialog>
  );
}
