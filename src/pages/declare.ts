import type { PageKind, PageLink } from '../access/page-tokens.ts';
import type { Form } from '../html/form.ts';
import type { Html } from '../html/html.ts';
import type { BrandFace } from '../html/page.ts';
import type { Context } from '../operation/context.ts';
import type { FormPart } from '../operation/form-part.ts';
import type { Work } from '../operation/work.ts';

/** What every row that a link opens has. */
export interface LinkedRow {
  brandId: string;
  /** Raising it revokes every earlier link. */
  linkVersion: number;
}

/** One request to a page. */
export interface Visit<Row> {
  context: Context;
  row: Row;
  brand: BrandFace;
  link: PageLink;
  /** The page's own path, for its forms and to be sent back to. */
  action: string;
  query: Readonly<Record<string, string>>;
  /** Not a mail's scanner, a preview or a prefetch: only such a visit is a first view. */
  isPerson: boolean;
  address: string;
  userAgent: string;
  requestId: string;
  now: Date;
  /** What was filled in; throws where it did not come as the page's form. */
  form(): Form;
  /** The parts of a multipart form; only for a page that takes an `upload`. */
  parts(): AsyncIterable<FormPart>;
  /** A change in one transaction, audited as the page's: `page_brief`, without a key. */
  inWork<T>(change: (work: Work) => Promise<T>): Promise<T>;
}

/** A page, or the path of this host that a browser goes on to. */
export type PageAnswer = { status?: number; title: string; content: Html } | { seeOther: string };

export interface PageDeclaration<Row extends LinkedRow> {
  /** Of its links, and of its path: `/brief/{token}`. */
  kind: PageKind;
  /** The row that the link opens, scoped by nothing else; undefined: there is no such page any more. */
  find(context: Context, link: PageLink): Promise<Row | undefined>;
  /** Answers a GET. It uses nothing up. */
  show(visit: Visit<Row>): Promise<PageAnswer> | PageAnswer;
  /** Answers a POST of the page's own form, once it is known to be from the page. */
  submit?(visit: Visit<Row>): Promise<PageAnswer>;
  /** For forms with files, each as large as an asset may be. Without it a form has up to 64 kB. */
  upload?: { maxFiles: number };
}

/** A declared page whose row's type is known only to itself. */
export interface CreatorPage {
  kind: PageKind;
  hasSubmit: boolean;
  upload: PageDeclaration<LinkedRow>['upload'];
  /** Undefined when the link opens nothing. */
  open(context: Context, link: PageLink): Promise<OpenPage | undefined>;
}

export interface OpenPage {
  brandId: string;
  show(visit: Omit<Visit<unknown>, 'row'>): Promise<PageAnswer>;
  submit(visit: Omit<Visit<unknown>, 'row'>): Promise<PageAnswer>;
}

/** Declares a page that opens by a link alone. */
export function creatorPage<Row extends LinkedRow>(declared: PageDeclaration<Row>): CreatorPage {
  const { kind, upload } = declared;
  return {
    ...{ kind, upload, hasSubmit: declared.submit !== undefined },
    open: async (context, link) => {
      const row = await declared.find(context, link);
      if (!row || row.linkVersion !== link.version) return undefined;
      const show = async (visit: Omit<Visit<unknown>, 'row'>) => await declared.show({ ...visit, row });
      return {
        brandId: row.brandId,
        show,
        submit: async (visit) => await (declared.submit?.({ ...visit, row }) ?? show(visit)),
      };
    },
  };
}
