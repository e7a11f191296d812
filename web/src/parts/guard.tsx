import { Component, type ReactNode } from 'react';

interface GuardProps {
  /** Shown where the rest cannot be drawn. */
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

/** Keeps what cannot be drawn from taking the page with it. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
