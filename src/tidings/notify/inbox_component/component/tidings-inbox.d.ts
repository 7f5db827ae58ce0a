/** Types of `<tidings-inbox>`, the in-app inbox of Tidings. */

export interface InboxAction {
  name: string;
  label: string;
  /** Where it leads; without one, choosing it tells the server. */
  url?: string | null;
}

export interface InboxItem {
  id: string;
  title: string;
  body?: string;
  link?: string | null;
  picture?: string | null;
  actions?: InboxAction[];
  category: string;
  tags?: string[];
  priority: "critical" | "high" | "normal" | "low";
  data?: Record<string, unknown>;
  created_at: string;
  seen_at?: string | null;
  read_at?: string | null;
  archived_at?: string | null;
  snoozed_until?: string | null;
}

/** What the page's own backend got from `POST /api/v1/recipients/{id}/inbox-tokens`, or the token alone. */
export type InboxToken = string | { token: string; expires_at?: string };

export type TokenProvider = () => InboxToken | Promise<InboxToken>;

export interface TidingsInboxAttributes {
  "base-url"?: string; // attribute
  token?: string; // attribute
  "token-url"?: string; // attribute
  subscriber?: string; // attribute
  lang?: string; // attribute
  dir?: "ltr" | "rtl"; // attribute
  theme?: "auto" | "light" | "dark"; // attribute
  view?: "bell" | "page"; // attribute
  categories?: string; // attribute
  "preferences-url"?: string; // attribute
  "link-target"?: "_self" | "_blank"; // attribute
}

export interface TidingsInboxEventMap {
  /** Somebody opened an item; prevent the default to show it yourself. */
  "tidings-item-click": CustomEvent<{ item: InboxItem; href: string | null }>;
  /** Somebody chose an action; prevent the default to do it yourself. */
  "tidings-action": CustomEvent<{ item: InboxItem; action: InboxAction }>;
  /** An item came, while the page was open. */
  "tidings-item": CustomEvent<{ item: InboxItem }>;
  /** The counts have changed. */
  "tidings-unread": CustomEvent<{ unread: number; unseen: number }>;
  /** The popover was opened or closed. */
  "tidings-toggle": CustomEvent<{ open: boolean }>;
  /** The server, or the token provider, did not do what was asked; `status` is 0 where there was no answer. */
  "tidings-error": CustomEvent<{ code: string; status: number }>;
}

export class TidingsInbox extends HTMLElement {
  /** Gives a token when one is needed, and again before it ends. */
  tokenProvider: TokenProvider | null;
  readonly unread: number;
  readonly unseen: number;
  /** A copy of what the list shows. */
  readonly items: InboxItem[];
  open(): void;
  close(): void;
  refresh(): Promise<void>;
  readAll(): void;
  /** Opens what the person hears, and where: in the panel, as the button in its header does. */
  showPreferences(): Promise<void>;
  addEventListener<K extends keyof TidingsInboxEventMap>(
    type: K,
    listener: (this: TidingsInbox, event: TidingsInboxEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "tidings-inbox": TidingsInbox;
  }
}
