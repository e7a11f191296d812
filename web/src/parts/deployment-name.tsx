import { usePage } from '../page/page.tsx';

/** The name of a deployment with its ID in small type. For an unavailable deployment, the end of its ID. */
export function DeploymentName({ id }: { readonly id: string }) {
  const { deployments } = usePage();
  const deployment = deployments.find((option) => option.id === id);
  const name =
    deployment?.name ??
    id
      .split('/')
      .slice(id.startsWith('applications/') ? 2 : 0)
      .join('/');
  return (
    <span className="deployment-name">
      {name}
      {name !== id && <span className="soft small">{id}</span>}
    </span>
  );
}
