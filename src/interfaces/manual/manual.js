// The buttons stay hidden where this does not run, or where the browser keeps the clipboard for https.
for (const button of navigator.clipboard ? document.querySelectorAll('.copy') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent.trimEnd());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}

// The list of pages has its own scrollbar on a wide screen, and starts where the open page is.
const pages = document.querySelector('.pages');
const open = pages?.querySelector('.wide [aria-current]');
if (open) pages.scrollTop = open.offsetTop - pages.clientHeight / 2;

// The section that is being read is marked in the list of sections.
const links = [...document.querySelectorAll('.beside a')];
const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
function markSection() {
  const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const next = isAtEnd ? -1 : headings.findIndex((heading) => heading.getBoundingClientRect().top > 120);
  const at = next === -1 ? links.length - 1 : next - 1;
  for (const [i, link] of links.entries()) {
    if (i === at) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}
if (links.length > 0) {
  addEventListener('scroll', markSection, { passive: true });
  markSection();
}

// A slash leads to the search.
const search = document.getElementById('q');
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || document.activeElement === search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
