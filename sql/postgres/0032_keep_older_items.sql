-- What a delivery carries where that is not its event's data as it stands: a test's sample, or the item in its older form.
ALTER TABLE webhook_deliveries RENAME COLUMN test_data TO own_data;
