import type { PageKind, PageLink } from '../../kit/access/page-tokens.ts';
import type { Form } from '../../kit/html/form.ts';
import type { Html } from '../../kit/html/html.ts';
import type { BrandFace } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FormPart } from '../../kit/operation/upload.ts';
import type { Work } from '../../kit/operation/work.ts';

/** The fields of every row that a link opens. */
export interface LinkedRow {
  brandId: string;
  /** Incrementing it revokes every earlier link. */
  linkVersion: number;
}

/** One request to a page. */
export interface PageVisit<Row> {
  context: Context;
  row: Row;
  brand: BrandFace;
  link: PageLink;
  /** The page's own path, for its forms and redirects. */
  action: string;
  query: Readonly<Record<string, string>>;
  /** False for a mail scanner, a preview or a prefetch: they do not count as a first view. */
  isPerson: boolean;
  address: string;
  userAgent: string;
  requestId: string;
  now: Date;
  /** The submitted form; throws if the body is not the page's form. */
  form(): Form;
  /** The parts of a multipart form; only for a page with `upload`. */
  parts(): AsyncIterable<FormPart>;
  /** Makes a change in one transaction, audited under the page's name, such as `page_brief`, without a key. */
  inWork<T>(change: (work: Work) => Promise<T>): Promise<T>;
}

/** A page, the path on this host that the browser is redirected to, or a JSON file to be saved. */
export type PageAnswer =
  | { status?: number; title: string; content: Html }
  | { seeOther: string }
  | { fileName: string; json: object };

export interface PageDeclaration<Row extends LinkedRow> {
  /** The kind of its links, and its path: `/brief/{token}`. */
  kind: PageKind;
  /** The row that the link opens, found by the link alone; undefined if the page no longer exists. */
  find(context: Context, link: PageLink): Promise<Row | undefined>;
  /** Answers a GET. It must not use anything up. */
  show(visit: PageVisit<Row>): Promise<PageAnswer> | PageAnswer;
  /** Answers a POST of the page's own form, after checking that it came from the page. */
  submit?(visit: PageVisit<Row>): Promise<PageAnswer>;
  /** For forms with files, each at most as large as an asset. Without it a form may have up to 64 kB. */
  upload?: { maxFiles: number };
  /** Shown if a link opens nothing, instead of "Not found". The same for unknown, revoked and expired links. */
  ended?: string;
}

/** A declared page, without its row's type. */
export interface CreatorPage {
  kind: PageKind;
  hasSubmit: boolean;
  upload: PageDeclaration<LinkedRow>['upload'];
  ended: string | undefined;
  /** Undefined if the link opens nothing. */
  open(context: Context, link: PageLink): Promise<OpenPage | undefined>;
}

export interface OpenPage {
  brandId: string;
  show(visit: Omit<PageVisit<unknown>, 'row'>): Promise<PageAnswer>;
  submit(visit: Omit<PageVisit<unknown>, 'row'>): Promise<PageAnswer>;
}

/** Declares a page that opens with a link alone. */
export function creatorPage<Row extends LinkedRow>(declared: PageDeclaration<Row>): CreatorPage {
  const { kind, upload, ended } = declared;
  return {
    kind,
    upload,
    ended,
    hasSubmit: declared.submit !== undefined,
    open: async (context, link) => {
      const row = await declared.find(context, link);
      if (!row || row.linkVersion !== link.version) return undefined;
      const show = async (visit: Omit<PageVisit<unknown>, 'row'>) => await declared.show({ ...visit, row });
      return {
        brandId: row.brandId,
        show,
        submit: async (visit) => await (declared.submit?.({ ...visit, row }) ?? show(visit)),
      };
    },
  };
}
