let opened: Promise<(email: string) => boolean> | undefined;

async function open(): Promise<(email: string) => boolean> {
  const { disposableEmailBlocklist } = await import('disposable-email-domains-js');
  const domains = new Set(disposableEmailBlocklist());
  return (email) => {
    const labels = email
      .slice(email.lastIndexOf('@') + 1)
      .trim()
      .toLowerCase()
      .split('.');
    return labels.some((_, place) => domains.has(labels.slice(place).join('.')));
  };
}

/** Recognizes addresses of known providers of disposable ones, also at their subdomains. The list is read at first use. */
export function openDisposable(): Promise<(email: string) => boolean> {
  opened ??= open();
  return opened;
}
