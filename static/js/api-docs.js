"use strict";

// Draws the OpenAPI description as a page on which each operation can be tried with a key.
(() => {
  const place = document.getElementById("api-operations");
  if (!place || !window.SwaggerUIBundle) return;
  document.querySelector("[data-without-script]").hidden = true;
  window.SwaggerUIBundle({
    domNode: place,
    url: place.dataset.description,
    deepLinking: true,
    // Neither asks another site whether the description is sound, nor keeps a key after the page is left.
    validatorUrl: null,
    persistAuthorization: false,
    withCredentials: false,
    requestInterceptor: (request) => ({ ...request, credentials: "omit" }),
  });
})();
