package vectors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.runtime.rest.entities.ConfigInfo;
import org.apache.kafka.connect.runtime.rest.entities.ConfigInfos;
import org.apache.kafka.connect.runtime.rest.entities.ConfigKeyInfo;
import org.apache.kafka.connect.runtime.rest.entities.ConfigValueInfo;
import org.apache.kafka.connect.runtime.standalone.StandaloneConfig;
import org.apache.kafka.connect.runtime.standalone.StandaloneHerder;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;
import org.apache.kafka.connect.util.FutureCallback;

import java.util.List;
import java.util.Map;

/**
 * What a standalone worker answers when it is asked to judge the configuration of a connector: the keys of its plugins, and
 * those of its other keys with which something is wrong.
 */
final class ValidationVectors implements Subject {
    private static final StandaloneHerder HERDER = herder();

    /** No cluster is asked for its id. */
    private static StandaloneHerder herder() {
        StandaloneConfig config = new StandaloneConfig(Runtime.WORKER) {
            @Override
            public String kafkaClusterId() {
                return "cluster";
            }
        };
        MemoryOffsetBackingStore offsets = new MemoryOffsetBackingStore() {
            @Override
            public java.util.Set<Map<String, Object>> connectorPartitions(String connectorName) {
                return java.util.Set.of();
            }
        };
        AllConnectorClientConfigOverridePolicy policy = new AllConnectorClientConfigOverridePolicy();
        Worker worker = new Worker("worker", Time.SYSTEM, Runtime.PLUGINS, config, offsets, policy);
        return new StandaloneHerder(worker, "cluster", policy);
    }

    @Override
    public JsonNode run(Case c) throws Exception {
        FutureCallback<ConfigInfos> answer = new FutureCallback<>();
        HERDER.validateConnectorConfig(c.config(), answer, false);
        ConfigInfos infos;
        try {
            infos = answer.get();
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
        ObjectNode out = Notation.JSON.objectNode();
        out.put("error_count", infos.errorCount());
        out.set("groups", texts(infos.groups()));
        ArrayNode configs = out.putArray("configs");
        for (ConfigInfo info : infos.configs()) {
            ConfigKeyInfo key = info.configKey();
            ConfigValueInfo value = info.configValue();
            String name = key != null ? key.name() : value.name();
            // The keys that every connector has are told by the configuration classes.
            boolean ofPlugins = name.matches("(transforms|predicates|(key|value|header)\\.converter)\\..*|connector\\.plugin\\.version");
            boolean converter = name.endsWith(".converter") && c.config().containsKey(name);
            if (!ofPlugins && !converter && value.errors().isEmpty())
                continue;
            ObjectNode one = configs.addObject();
            one.put("name", name);
            if (key != null) {
                ObjectNode definition = one.putObject("definition");
                definition.put("type", key.type()).put("required", key.required()).put("default", key.defaultValue())
                    .put("importance", key.importance()).put("group", key.group()).put("order", key.orderInGroup())
                    .put("width", key.width()).put("display_name", key.displayName()).set("dependents", texts(key.dependents()));
            }
            if (value != null) {
                ObjectNode judged = one.putObject("value");
                judged.put("value", value.value()).put("visible", value.visible());
                judged.set("recommended", texts(value.recommendedValues()));
                judged.set("errors", texts(value.errors()));
            }
        }
        return out;
    }

    private static ArrayNode texts(List<String> texts) {
        ArrayNode out = Notation.JSON.arrayNode();
        if (texts != null)
            texts.forEach(out::add);
        return out;
    }
}
