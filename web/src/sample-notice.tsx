import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from './kit/parts.tsx';

/** With the dialog, which the first page does not need. */
const SampleRemoval = lazy(() => import('./sample-removal.tsx'));

/** Says that what the app shows is a sample, and takes it away. */
export default function SampleNotice() {
  const [isAsking, setAsking] = useState(false);
  const button = (
    <Button needs="remove_sample" kind="danger" onPress={() => setAsking(true)}>
      Remove the sample
    </Button>
  );
  return (
    <aside className="notice" aria-label="Sample data">
      <p>
        <strong className="nowrap">This is sample data</strong>
        <span className="wide">
          : 90 days of a made-up brand. Start with the <Link to="/roster">creators</Link>,{' '}
          <Link to="/campaigns">campaigns</Link> or <Link to="/analytics">sales</Link>.
        </span>
      </p>
      {isAsking ? (
        <Suspense fallback={button}>
          <SampleRemoval />
        </Suspense>
      ) : (
        button
      )}
    </aside>
  );
}
