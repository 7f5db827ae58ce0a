-- Emergency only: undoes 0073_pre_templates_open_to_sets. Nothing is accepted or rendered after it, because no template is found.
DROP POLICY IF EXISTS tenant_sets ON notification.templates;
DROP POLICY IF EXISTS tenant_sets ON notification.template_versions;
